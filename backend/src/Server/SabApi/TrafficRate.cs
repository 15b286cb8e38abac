using Sluice.Server.Providers;

namespace Sluice.Server.SabApi;

/// <summary>The download rate between two polls. Thread-safe.</summary>
internal sealed class TrafficRate(ProviderHost providers, TimeProvider time)
{
    // Below this interval the rate is too noisy, because several clients poll at once.
    private static readonly TimeSpan LeastStretch = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private long _since = time.GetTimestamp();
    private long _bytes = providers.BytesReceived;
    private double _rate;

    /// <summary>Returns the average bytes per second since the last poll at least one second ago.</summary>
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
