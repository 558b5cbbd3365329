// Texts that `itemd --help` and the manual page share.
#pragma once

namespace itemdb::daemon {

inline constexpr char kDaemonDescription[] =
    "database server with DynamoDB's data model: keeps tables, items, secondary indexes and a change "
    "log in one directory, and serves them over gRPC and DynamoDB's HTTP protocol.";

// Below the flags: sources of settings, examples, signals, exit codes.
inline constexpr char kHelpNotes[] = R"(Settings:
  Each setting can be given as a flag (--log-level debug), in the environment (ITEMD_LOG_LEVEL=debug) or in the
  configuration file (log-level = "debug"). For each setting the flag wins over the environment, and the environment
  over the file. itemd --print-config shows every value and where it comes from.

Examples:
  itemd dev
      For development, as one uses DynamoDB Local: a new database in memory, DynamoDB's HTTP protocol at
      http://127.0.0.1:8000, gRPC at 127.0.0.1:7420, no keys. Prints how to reach it; Ctrl-C ends it and the database.
      Settings may be added: itemd dev --http-listen 127.0.0.1:8001 --data-dir ./data keeps the data. The file
      /etc/itemdb/itemd.toml is not read.
  itemd --data-dir /var/lib/itemdb
      Serves the database in /var/lib/itemdb; creates it when the directory is empty or missing. Listens on
      127.0.0.1:7420 and, if /run/itemdb is writable, on /run/itemdb/itemd.sock: the addresses that itemctl tries
      without an --endpoint.
  itemd --data-dir ./data --listen 127.0.0.1:0 --address-file ./itemd.json
      For scripts: the kernel chooses a free port. itemd writes it to ./itemd.json as soon as it serves.
  itemd --data-dir ./data --listen unix:/tmp/itemd.sock --durability relaxed
      Answers writes before they are on disk: several times faster for single writers. A power cut can lose the last
      second of answered writes; a crash of itemd alone loses none.
  itemd --data-dir ./data --listen 0.0.0.0:7420 --tls-cert itemd.pem --tls-key itemd.key --tls-client-ca clients.pem
      Serves clients on other machines, if an authority in clients.pem has signed their certificate.

  itemd --data-dir /var/lib/itemdb --recover=plan
      Prints, table by table, what --recover=last-good would keep and lose of a damaged directory. Changes nothing.
  itemd inspect /var/lib/itemdb
      The same, with all files and column families of RocksDB.
  itemd salvage /var/lib/itemdb /mnt/other/itemdb
      Writes what is intact into a new database on another disk, and prints a report. Changes nothing in the first
      directory.

  itemd restore /mnt/backups/itemdb /var/lib/itemdb
      Makes a database of the newest backup that "itemctl backup create" has made with --backup-directory
      /mnt/backups/itemdb.
  itemd restore /mnt/backups/itemdb /var/lib/itemdb --archive /mnt/backups/itemdb-archive --to 2026-11-25T14:30:00Z
      The same with every commit up to that time, if itemd had --archive-directory /mnt/backups/itemdb-archive.

  printf '2026-11 %s\n' $(openssl rand -hex 32) > keys; chmod 0600 keys
  itemd --data-dir ./secret --encryption-key-file keys
      A database whose files and backups are encrypted. Nobody can read it without the file of keys.

  itemd keys add AKORDERS write --access-keys keys.toml
      Adds a key to the file, which is made with mode 0600 if it is missing, and prints the secret that was generated.
      "keys rotate AKORDERS" gives it a new secret, "keys remove AKORDERS" removes it. A running itemd reads the file
      again by itself.

Signals:
  SIGTERM, SIGINT   stop: report NOT_SERVING, refuse new calls, finish calls in flight (--shutdown-timeout at most),
                    close the database, exit 0. A second signal cancels the calls in flight at once.
  SIGHUP            read the certificates and the file of --access-keys again at once, reopen --audit-log, go on

Exit codes:
   0  stopped by a signal after finishing its calls; or --recover=plan or a command is done
  64  the configuration is wrong: command line, environment, file or certificates
  65  the data directory holds damaged data, files of another program, or a format this version does not know
  69  another process uses the data directory or an address
  70  internal error
  74  a file or directory cannot be created, read or written

Logs go to stderr, one line per event. Health (grpc.health.v1) and reflection are served on the same addresses.)";

}  // namespace itemdb::daemon
