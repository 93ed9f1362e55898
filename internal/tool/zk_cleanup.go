package tool

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/disk/zklog"
)

const zkCleanupUsage = `Usage:
PurgeTxnLog dataLogDir [snapDir] -n count
	dataLogDir -- path to the txn log directory
	snapDir -- path to the snapshot directory
	count -- the number of old snaps/logs you want to keep, value should be greater than or equal to 3
`

// zkCleanup removes old snapshots and logs. As Apache's script it takes the directories from zoo.cfg if none
// are given: ZOOCFG, or zoo.cfg in ZOOCFGDIR or conf.
func zkCleanup(env *Env, args []string) int {
	var dirs []string
	for len(args) > 0 && args[0] != "-n" {
		dirs, args = append(dirs, args[0]), args[1:]
	}
	if len(dirs) == 0 && len(args) == 2 {
		z, _, err := config.LoadZooKeeper(zooFile(env), "")
		if err != nil {
			fmt.Fprintln(env.Err, err)
			return 1
		}
		dirs = []string{z.DataLogDir, z.DataDir}
	}
	if len(dirs) == 1 {
		dirs = append(dirs, dirs[0])
	}
	if len(dirs) != 2 || len(args) != 2 {
		fmt.Fprint(env.Out, zkCleanupUsage)
		return 1
	}
	count, err := strconv.Atoi(args[1])
	if err != nil || count < zklog.MinRetain {
		fmt.Fprintln(env.Err, "count should be greater than or equal to 3")
		fmt.Fprint(env.Out, zkCleanupUsage)
		return 1
	}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err != nil {
			fmt.Fprintf(env.Err, "Path '%s' does not exist. \n", dir)
			fmt.Fprint(env.Out, zkCleanupUsage)
			return 1
		}
	}
	err = zklog.PurgeDirs(dirs[1], dirs[0], count, func(path string) {
		when := time.Time{}
		if info, err := os.Stat(path); err == nil {
			when = info.ModTime()
		}
		fmt.Fprintf(env.Out, "Removing file: %s\t%s\n", when.Format("Jan 2, 2006, 3:04:05 PM"), path)
	})
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	return 0
}

// zooFile is where Apache's scripts look for zoo.cfg.
func zooFile(env *Env) string {
	if file := env.Getenv("ZOOCFG"); file != "" {
		return file
	}
	if dir := env.Getenv("ZOOCFGDIR"); dir != "" {
		return dir + "/zoo.cfg"
	}
	return "conf/zoo.cfg"
}
