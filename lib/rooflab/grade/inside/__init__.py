"""What runs inside the sandbox: the fork server, its namespaces, the kernel and the limits."""
