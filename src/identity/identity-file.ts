/** A certificate in `<file>.crt` and its key in `<file>.key`. */
import type { Identity } from './certificate.ts'
import { readIfThere, writePrivate } from './file.ts'

/** What there is of the two, whether they belong together or not. */
export async function readIdentity(
  file: string,
): Promise<{ readonly [part in keyof Identity]: Identity[part] | undefined }> {
  const [certificate, key] = await Promise.all([readIfThere(`${file}.crt`), readIfThere(`${file}.key`)])
  return { certificate, key }
}

/** The key first: a certificate without its key is found out and made anew. */
export async function writeIdentity(file: string, { certificate, key }: Identity): Promise<void> {
  await writePrivate(`${file}.key`, key)
  await writePrivate(`${file}.crt`, certificate)
}
