using Sluice.Usenet.Streams;

namespace Sluice.Server.Library;

/// <summary>What articles of one posted file have claimed against its map since the start.</summary>
/// <remarks>Thread-safe. Bounded: a file whose articles go on contradicting each other is not listened to for ever.</remarks>
internal sealed class MapClaims : IDisposable
{
    private const int MostClaims = 64;

    private readonly Lock _gate = new();
    private readonly HashSet<Segment> _refused = [];
    private int _corrections;

    /// <summary>Held by whoever looks into a claim, so that each is looked into once.</summary>
    public SemaphoreSlim Turn { get; } = new(1, 1);

    /// <summary>Whether a claim is worth looking into.</summary>
    public bool MayBelieve(Segment claim)
    {
        lock (_gate)
            return _refused.Count + _corrections < MostClaims && !_refused.Contains(claim);
    }

    /// <summary>A claim was found to be untrue.</summary>
    public void Refuse(Segment claim)
    {
        lock (_gate)
            _refused.Add(claim);
    }

    /// <summary>A claim was found to be true.</summary>
    public void Corrected()
    {
        lock (_gate)
            _corrections++;
    }

    /// <inheritdoc/>
    public void Dispose() => Turn.Dispose();
}
