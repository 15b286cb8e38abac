using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp;

/// <summary>One Usenet account in use: its settings and its connections.</summary>
/// <param name="Index">Place in the pool of providers.</param>
/// <param name="Options">The account.</param>
/// <param name="Pool">Its connections.</param>
internal sealed record Provider(int Index, ProviderOptions Options, NntpConnectionPool Pool)
{
    private readonly Lock _gate = new();
    private MessageId _lastDelivered;

    /// <summary>Whether those of one priority are used in their order, and not side by side.</summary>
    public bool KeepsOrder { get; init; }

    /// <summary>Orders those of one priority, the lowest first.</summary>
    public double Precedence => KeepsOrder ? Index : Pool.Backlog;

    /// <summary>An article that it has; empty while it has delivered none.</summary>
    public MessageId LastDelivered
    {
        get
        {
            lock (_gate)
                return _lastDelivered;
        }
    }

    /// <summary>A body has come whole.</summary>
    public void Delivered(MessageId id, BreakerProbe? probe)
    {
        lock (_gate)
            _lastDelivered = id;
        Pool.Health.Bodies.Succeeded();
        probe?.Passed();
    }
}
