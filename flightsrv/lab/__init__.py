"""What a performance engineer runs."""
