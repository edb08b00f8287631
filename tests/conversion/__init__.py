"""Groups that change their protocol."""
