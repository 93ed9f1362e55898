#!/bin/sh
# zkEnv.sh is read by the other zk scripts. It finds the folder of configurations and lets the files in it that
# operators know from Apache's scripts set variables: zookeeper-env.sh and java.env.
zkroot=${ZOOBINDIR:-$(dirname "$0")}/..
if [ -z "${ZOOCFGDIR-}" ]; then
  if [ -d "$zkroot/conf" ]; then ZOOCFGDIR=$zkroot/conf; else ZOOCFGDIR=$zkroot/etc/zookeeper; fi
fi
if [ -f "$ZOOCFGDIR/zookeeper-env.sh" ]; then . "$ZOOCFGDIR/zookeeper-env.sh"; fi
if [ -f "$ZOOCFGDIR/java.env" ]; then . "$ZOOCFGDIR/java.env"; fi
: "${ZOO_LOG_DIR=$zkroot/logs}"
export ZOOCFGDIR ZOO_LOG_DIR
for name in ZOOCFG ZOOPIDFILE SERVER_JVMFLAGS CLIENT_JVMFLAGS JVMFLAGS; do
  eval "if [ -n \"\${$name-}\" ]; then export $name; fi"
done
