namespace Sluice.Usenet.Nntp;

/// <summary>
/// Whether a provider can be reached. After a failed dial it rests, longer each time, so that a dead provider costs its
/// time-out once and not once per article. Misses never count here.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ProviderHealth(TimeProvider time)
{
    private static readonly TimeSpan FirstRest = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestRest = TimeSpan.FromSeconds(30);

    private readonly Lock _gate = new();
    private NntpException? _failure;
    private TimeSpan _rest;
    private long _failedAt;

    /// <summary>Why the provider rests, or null when it may be asked.</summary>
    public NntpException? Resting
    {
        get
        {
            lock (_gate)
                return _failure is not null && time.GetElapsedTime(_failedAt) < _rest ? _failure : null;
        }
    }

    /// <summary>A dial has failed.</summary>
    public void Failed(NntpException failure)
    {
        lock (_gate)
        {
            _rest = _failure is null ? FirstRest : _rest * 2 < LongestRest ? _rest * 2 : LongestRest;
            _failure = failure;
            _failedAt = time.GetTimestamp();
        }
    }

    /// <summary>A dial has succeeded.</summary>
    /// <returns>True when it is the first after a failure.</returns>
    public bool Succeeded()
    {
        lock (_gate)
        {
            var recovered = _failure is not null;
            _failure = null;
            return recovered;
        }
    }
}
