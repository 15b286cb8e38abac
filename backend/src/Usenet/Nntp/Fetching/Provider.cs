using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>One entry of the settings in use: what it says, and the connections of its account.</summary>
/// <param name="Index">Place in the pool of providers.</param>
/// <param name="Options">The entry.</param>
/// <param name="Pool">The connections of its account, which other entries and other pools of providers may use too.</param>
internal sealed record Provider(int Index, ProviderOptions Options, NntpConnectionPool Pool)
{
    /// <summary>Whether those of one priority are used in their order, and not side by side.</summary>
    public bool KeepsOrder { get; init; }

    /// <summary>Orders those of one priority, the lowest first.</summary>
    public double Precedence => KeepsOrder ? Index : Pool.Backlog;

    /// <summary>Whether both have their articles from the same store, as far as the settings say.</summary>
    public bool SharesBackbone(Provider other) =>
        Options.Backbone.Length > 0 && string.Equals(Options.Backbone, other.Options.Backbone, StringComparison.OrdinalIgnoreCase);

    /// <summary>A body has come whole.</summary>
    public void Delivered(MessageId id, BreakerProbe? probe)
    {
        Pool.Health.Delivered(id);
        probe?.Passed();
    }
}
