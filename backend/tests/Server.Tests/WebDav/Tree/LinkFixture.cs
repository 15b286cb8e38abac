using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>A server with one release that the history calls completed and one that it does not know.</summary>
public sealed class LinkFixture : IAsyncLifetime
{
    internal TreeServer Server { get; private set; } = null!;

    public async ValueTask InitializeAsync()
    {
        Server = await TreeServer.StartAsync(("MOUNT_DIR", "/mnt/media/"));
        await Server.PublishCompletedAsync("tv", "Rel", "a.mkv", "a+b.mkv", "b", "b-", "b c", "season 1/c.mkv", "._a.mkv");
        await Server.PublishAsync("movies", "Unlisted", "a.mkv");
    }

    public async ValueTask DisposeAsync() => await Server.DisposeAsync();
}
