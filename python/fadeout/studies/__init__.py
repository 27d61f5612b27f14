"""The studies that come with fadeout, a folder each."""
