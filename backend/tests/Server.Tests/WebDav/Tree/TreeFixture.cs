using Dapper;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>One server with releases for a class of tests, because each start costs a password hash.</summary>
public sealed class TreeFixture : IAsyncLifetime
{
    internal TreeServer Server { get; private set; } = null!;

    public async ValueTask InitializeAsync()
    {
        Server = await TreeServer.StartAsync();
        await Server.PublishAsync("tv", "Rel", "season 1/a.mkv", "b.mkv");
        await Server.PublishAsync("tv", "R\u00e9l", "season 1/a.mkv", "season 1/b.mkv", "c.mkv", "._c.mkv");
        await Server.PublishAsync("movies", "Lost", "secret-name.mkv");
    }

    public async ValueTask DisposeAsync() => await Server.DisposeAsync();
}

/// <summary>A server whose database fails every query about the tree.</summary>
public sealed class BrokenTreeFixture : IAsyncLifetime
{
    internal TreeServer Server { get; private set; } = null!;

    public async ValueTask InitializeAsync()
    {
        Server = await TreeServer.StartAsync();
        await Server.Database.WriteAsync(
            connection => connection.Execute(
                "ALTER TABLE release RENAME TO r; ALTER TABLE history_item RENAME TO h; ALTER TABLE queue_item RENAME TO q; ALTER TABLE queue_file RENAME TO f"),
            TestContext.Current.CancellationToken);
    }

    public async ValueTask DisposeAsync() => await Server.DisposeAsync();
}

/// <summary>A server that accepts uploads of up to 1 MiB.</summary>
public sealed class QueueFixture : IAsyncLifetime
{
    internal TreeServer Server { get; private set; } = null!;

    public async ValueTask InitializeAsync() => Server = await TreeServer.StartAsync(("MAX_REQUEST_BODY_SIZE", "1048576"));

    public async ValueTask DisposeAsync() => await Server.DisposeAsync();
}
