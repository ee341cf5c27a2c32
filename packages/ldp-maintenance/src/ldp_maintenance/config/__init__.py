"""Where the settings of a table come from: table-config files, a config's section, table properties."""
