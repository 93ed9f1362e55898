package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Each kind of client is fetched once, by its registry's own client, into a folder of the cache named after what was
// asked for. A folder without its mark is left over from a fetch that was cut off, and made again.

func (e *env) here(elem ...string) string {
	return filepath.Join(append([]string{e.root, "test", "compat"}, elem...)...)
}

// fetched gives the folder for what list asks for, and has fetch fill it the first time.
func (e *env) fetched(kind, list string, fetch func(dir string) error) (string, error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	dir := filepath.Join(e.cache, kind+"-"+hex.EncodeToString(sum[:4]))
	mark := filepath.Join(dir, ".complete")
	if _, err := os.Stat(mark); err == nil {
		return dir, nil
	}
	fmt.Println("fetching", kind, "into", dir)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return "", err
	}
	// Registries fail for a moment now and then.
	for try := 1; ; try++ {
		if err = fetch(dir); err == nil {
			break
		}
		if try == 3 || e.ctx.Err() != nil {
			return "", err
		}
		fmt.Println("again:", err)
	}
	return dir, os.WriteFile(mark, nil, 0o644)
}

// apache is the folder of Apache's jars.
func (e *env) apache() (string, error) {
	return e.jarsOf("apache", e.here("java", "pom.xml"))
}

// jars is the folder of another set of jars: java/KIND.xml lists them.
func (e *env) jars(kind string) (string, error) { return e.jarsOf(kind, e.here("java", kind+".xml")) }

func (e *env) jarsOf(kind, pom string) (string, error) {
	dir, err := e.fetched(kind, pom, func(dir string) error {
		return e.sh(dir, nil, "mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", "-DoutputDirectory="+filepath.Join(dir, "libs"))
	})
	return filepath.Join(dir, "libs"), err
}

func javaTools(mode string) func(e *env) (command, error) {
	return func(e *env) (command, error) {
		libs, err := e.apache()
		return command{dir: e.here("java"), env: []string{"LIBS=" + libs}, args: []string{"./tools.sh", mode}}, err
	}
}

func javaClients(file string) func(e *env) (command, error) {
	return func(e *env) (command, error) {
		libs, err := e.apache()
		return command{dir: e.here("java"), env: []string{"LIBS=" + libs}, args: []string{"./tool", "run", file, e.at}}, err
	}
}

func kcat(e *env) (command, error) {
	if _, err := exec.LookPath("kcat"); err != nil {
		fmt.Println("installing kcat")
		err := e.sh(e.root, []string{"DEBIAN_FRONTEND=noninteractive"}, "sh", "-c",
			"apt-get install -qy kcat || { apt-get update -q && apt-get install -qy kcat; }")
		if err != nil {
			return command{}, fmt.Errorf("kcat is needed: %w", err)
		}
	}
	return command{dir: e.here("kcat"), args: []string{"./suite.sh"}}, nil
}

func python(script string) func(e *env) (command, error) {
	return func(e *env) (command, error) {
		list := e.here("python", "requirements.txt")
		dir, err := e.fetched("python", list, func(dir string) error {
			if err := e.sh(dir, nil, "python3", "-m", "venv", dir); err != nil {
				return err
			}
			return e.sh(dir, nil, filepath.Join(dir, "bin", "pip"), "install", "-q", "--disable-pip-version-check", "-r", list)
		})
		return command{
			dir: e.here("python"), env: []string{"PYTHONDONTWRITEBYTECODE=1"},
			args: []string{filepath.Join(dir, "bin", "python"), "-W", "ignore", script},
		}, err
	}
}

func kafkajs(e *env) (command, error) {
	list := e.here("kafkajs", "package.json")
	dir, err := e.fetched("kafkajs", list, func(dir string) error {
		text, err := os.ReadFile(list)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "package.json"), text, 0o644); err != nil {
			return err
		}
		return e.sh(dir, nil, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
	})
	return command{
		dir: e.here("kafkajs"), env: []string{"NODE_PATH=" + filepath.Join(dir, "node_modules"), "KAFKAJS_NO_PARTITIONER_WARNING=1"},
		args: []string{"node", "suite.js"},
	}, err
}

// goTool builds a command of the Go clients' module.
func (e *env) goTool(name string) (string, error) {
	bin := filepath.Join(e.work, "client-"+name)
	return bin, e.sh(e.here("goclients"), nil, "go", "build", "-o", bin, "./"+name)
}

func goClient(name string) func(e *env) (command, error) {
	return func(e *env) (command, error) {
		bin, err := e.goTool(name)
		return command{dir: e.work, args: []string{bin}}, err
	}
}
