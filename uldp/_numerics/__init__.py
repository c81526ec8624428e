"""What the library computes with: checks of arguments, packed sets, exact coins, sums."""
