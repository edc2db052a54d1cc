process.stdout.write('isthmus\n')
