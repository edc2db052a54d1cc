// Says what sigs.k8s.io/yaml makes of texts: a JSON string on each line in, a JSON array on each line out.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"

	"sigs.k8s.io/yaml"
)

const maxLine = 1 << 20

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, maxLine)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var text string
		if err := json.Unmarshal(lines.Bytes(), &text); err != nil {
			log.Fatal(err)
		}
		if err := answers.Encode(fact(text)); err != nil {
			log.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}

// fact is the text, the JSON or what is wrong, and whether a key stands twice.
func fact(text string) [3]any {
	read, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return [3]any{text, nil, err.Error()}
	}
	_, strict := yaml.YAMLToJSONStrict([]byte(text))
	return [3]any{text, string(read), strict != nil}
}
