package files

import "github.com/settle-cm/settle/model/disk"

// Disk returns the functions of this package as a resource type receives them.
func Disk() disk.Functions {
	return disk.Functions{
		Look: Look, Follow: Follow, Open: Open, Contents: Contents, Obstacle: Obstacle, Put: Put,
		Adjust: Adjust, Remove: Remove, Sweep: Sweep, Backup: Backup,
	}
}
