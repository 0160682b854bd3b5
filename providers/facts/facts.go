// Package facts gathers facts about this machine: its name, system, kernel,
// processors, memory, network and mounts. It returns only facts that are equal
// from call to call on an unchanged machine, so neither free space nor uptime.
package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/net"
)

// limit is how long gathering may take: a mount that does not answer must not
// hold up a run.
const limit = 10 * time.Second

// facts are the gathered values. Values that the system does not provide are left out.
type facts struct {
	Hostname       string               `json:"hostname"`
	OS             system               `json:"os"`
	Kernel         kernel               `json:"kernel"`
	CPU            processors           `json:"cpu"`
	Memory         memory               `json:"memory"`
	Network        map[string]networked `json:"network"`
	Mounts         map[string]mount     `json:"mounts"`
	Virtualization string               `json:"virtualization,omitempty"`
}

type system struct {
	Name     string `json:"name"` // linux
	Platform string `json:"platform,omitempty"`
	Family   string `json:"family,omitempty"`
	Version  string `json:"version,omitempty"`
}

type kernel struct {
	Release      string `json:"release,omitempty"`
	Architecture string `json:"architecture,omitempty"`
}

type processors struct {
	Count int    `json:"count,omitempty"`
	Model string `json:"model,omitempty"`
}

type memory struct {
	Total uint64 `json:"total_bytes,omitempty"`
	Swap  uint64 `json:"swap_bytes,omitempty"`
}

type networked struct {
	MAC       string   `json:"mac,omitempty"`
	MTU       int      `json:"mtu,omitempty"`
	Addresses []string `json:"addresses"`
}

type mount struct {
	Device string `json:"device"`
	Type   string `json:"type"`
	Size   uint64 `json:"size_bytes,omitempty"`
}

// Gather returns the facts as one JSON object. It fails only when ctx ends or
// nothing answers in time: a fact that cannot be had is left out.
func Gather(ctx context.Context) ([]byte, error) {
	f, err := inTime(ctx, gather)
	if err != nil {
		return nil, err
	}
	return json.Marshal(f)
}

// inTime returns what f gathers, unless that takes too long.
func inTime[T any](ctx context.Context, f func(context.Context) T) (T, error) {
	ctx, stop := context.WithTimeoutCause(ctx, limit, fmt.Errorf("took longer than %s", limit))
	defer stop()
	done := make(chan T, 1)
	go func() { done <- f(ctx) }() // what hangs in the kernel cannot be interrupted
	select {
	case facts := <-done:
		return facts, nil
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("gather facts: %w", context.Cause(ctx))
	}
}

func gather(ctx context.Context) facts {
	f := facts{Network: map[string]networked{}, Mounts: map[string]mount{}}
	if h, err := host.InfoWithContext(ctx); err == nil {
		f.Hostname = h.Hostname
		f.OS = system{h.OS, h.Platform, h.PlatformFamily, h.PlatformVersion}
		f.Kernel = kernel{h.KernelVersion, h.KernelArch}
		if h.VirtualizationRole == "guest" {
			f.Virtualization = h.VirtualizationSystem
		}
	}
	if n, err := cpu.CountsWithContext(ctx, true); err == nil {
		f.CPU.Count = n
	}
	if list, err := cpu.InfoWithContext(ctx); err == nil && len(list) > 0 {
		f.CPU.Model = list[0].ModelName
	}
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		f.Memory.Total = m.Total
	}
	if s, err := mem.SwapMemoryWithContext(ctx); err == nil {
		f.Memory.Swap = s.Total
	}
	if list, err := net.InterfacesWithContext(ctx); err == nil {
		for _, i := range list {
			n := networked{MAC: i.HardwareAddr, MTU: i.MTU, Addresses: []string{}}
			for _, a := range i.Addrs {
				n.Addresses = append(n.Addresses, a.Addr)
			}
			f.Network[i.Name] = n
		}
	}
	if list, err := disk.PartitionsWithContext(ctx, false); err == nil {
		for _, p := range list {
			m := mount{Device: p.Device, Type: p.Fstype}
			if u, err := disk.UsageWithContext(ctx, p.Mountpoint); err == nil {
				m.Size = u.Total
			}
			f.Mounts[p.Mountpoint] = m
		}
	}
	return f
}
