using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>A server with known keys for signed links.</summary>
public sealed class ViewFixture : IAsyncLifetime
{
    internal const string ApiKey = "0123456789abcdef0123456789abcdef";
    internal const string StrmKey = "fedcba9876543210fedcba9876543210";

    internal TreeServer Server { get; private set; } = null!;

    public async ValueTask InitializeAsync()
    {
        Server = await TreeServer.StartAsync(("SLUICE_CONFIG__API__KEY", ApiKey), ("SLUICE_CONFIG__API__STRM_KEY", StrmKey));
        await Server.PublishAsync("tv", "R\u00e9l 1", "a b.mkv");
    }

    public async ValueTask DisposeAsync() => await Server.DisposeAsync();
}
