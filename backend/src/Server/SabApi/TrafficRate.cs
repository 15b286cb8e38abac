using Sluice.Server.Providers;

namespace Sluice.Server.SabApi;

/// <summary>Download rate between two polls.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class TrafficRate(ProviderHost providers, TimeProvider time)
{
    // Shorter intervals are too noisy, and several clients poll at once.
    private static readonly TimeSpan LeastStretch = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private long _since = time.GetTimestamp();
    private long _bytes = providers.BytesReceived;
    private double _rate;

    /// <summary>Returns bytes per second since the last poll at least a second ago.</summary>
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
