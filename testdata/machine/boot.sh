#!/bin/sh
# Boots systemd as PID 1 of a disposable machine: an overlay of / in a tmpfs.
# Runs in new mount, pid, uts, ipc and cgroup namespaces. $1: an empty directory.
set -eu
work=$1
mount --make-rprivate /
mkdir -p "$work/fs"
mount -t tmpfs none "$work/fs"
mkdir -p "$work/fs/upper" "$work/fs/work" "$work/fs/root"
mount -t overlay none -o "lowerdir=/,upperdir=$work/fs/upper,workdir=$work/fs/work" "$work/fs/root"
root=$work/fs/root
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mkdir -p "$root/etc/systemd/system" "$root/old" "$root/share"
rm -f "$root/usr/sbin/policy-rc.d"
ln -sf /dev/null "$root/etc/systemd/system/tmp.mount"
cat >"$root/etc/systemd/system/test.target" <<'UNIT'
[Unit]
Description=settle test machine
Wants=systemd-journald.service
After=systemd-journald.service
UNIT
mkdir -p "$work/share"
mount --bind "$work/share" "$root/share"
cd "$root"
pivot_root . old
umount -l /old || true
mount --make-rshared /
exec env -i container=settle PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=test.target --show-status=no
