"""The rule packs that ship with Feltlink, one TOML file a paytable."""
