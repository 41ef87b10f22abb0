"""What a short statement says, Chinese, English or mixed, and how two statements stand to each other."""
