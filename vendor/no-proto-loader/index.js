// The gRPC client loads this package to serve channelz or ORCA, which nothing here does. The package itself brings 27 others, one of them with
// an install script (docs/dependencies.md).
throw new Error("@grpc/proto-loader is left out: channelz and ORCA are not available");
