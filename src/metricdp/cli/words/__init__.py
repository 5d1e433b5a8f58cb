"""What the commands say about their results."""
