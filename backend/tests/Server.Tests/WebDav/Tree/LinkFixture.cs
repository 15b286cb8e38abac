using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>A server with two completed releases in its history, and one release without a history item.</summary>
public sealed class LinkFixture : IAsyncLifetime
{
    /// <summary>A release whose name and file names need escaping in addresses and XML.</summary>
    internal const string OddRelease = "Odd #1 100% [x]";

    internal TreeServer Server { get; private set; } = null!;

    public async ValueTask InitializeAsync()
    {
        Server = await TreeServer.StartAsync(("MOUNT_DIR", "/mnt/media/"));
        await Server.PublishCompletedAsync("tv", "Rel", "a.mkv", "a+b.mkv", "b", "b-", "b c", "season 1/c.mkv", "._a.mkv");
        await Server.PublishCompletedAsync(
            "audio", OddRelease,
            "[x] #1 100%?.mkv", "%41.mkv", "+ & =.mkv", "a;b,c@d!$'()*.mkv", "\u00e9\U0001F3AC <\">.mkv", "dot..");
        await Server.PublishAsync("movies", "Unlisted", "a.mkv");
    }

    public async ValueTask DisposeAsync() => await Server.DisposeAsync();
}
