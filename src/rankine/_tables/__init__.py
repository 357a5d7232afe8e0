"""What kernels read: flat columns of numbers, without ids; NumPy alone."""
