using Sluice.Server.Providers;

namespace Sluice.Server.SabApi;

/// <summary>How fast the providers deliver, from the difference between two polls.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class TrafficRate(ProviderHost providers, TimeProvider time)
{
    // A shorter stretch says nothing, and several clients poll at once.
    private static readonly TimeSpan LeastStretch = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private long _since = time.GetTimestamp();
    private long _bytes = providers.BytesReceived;
    private double _rate;

    /// <summary>Bytes per second over the time since the last poll that was at least a second ago.</summary>
    public double BytesPerSecond()
    {
        lock (_gate)
        {
            var stretch = time.GetElapsedTime(_since);
            if (stretch < LeastStretch)
                return _rate;

            var bytes = providers.BytesReceived;
            _rate = (bytes - _bytes) / stretch.TotalSeconds;
            (_since, _bytes) = (time.GetTimestamp(), bytes);
            return _rate;
        }
    }
}
