using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using System.Globalization;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Counts the connections of the servers in this process from Kestrel's metrics. Create it before connections are opened.</summary>
internal sealed class OpenConnections : IDisposable
{
    private readonly MeterListener _listener = new();
    private readonly ConcurrentDictionary<string, long> _byPort = new();

    public OpenConnections()
    {
        _listener.InstrumentPublished = static (instrument, listener) =>
        {
            if (instrument is { Meter.Name: "Microsoft.AspNetCore.Server.Kestrel", Name: "kestrel.active_connections" })
                listener.EnableMeasurementEvents(instrument);
        };
        _listener.SetMeasurementEventCallback<long>((_, change, tags, _) =>
        {
            foreach (var tag in tags)
            {
                if (tag is { Key: "server.port", Value: { } port })
                    _byPort.AddOrUpdate(Convert.ToString(port, CultureInfo.InvariantCulture)!, change, (_, count) => count + change);
            }
        });
        _listener.Start();
    }

    /// <summary>Number of open connections to a port; -1 if the port never had one, so that a test cannot pass by mistake.</summary>
    public long Count(int port) => _byPort.GetValueOrDefault(port.ToString(CultureInfo.InvariantCulture), -1);

    public void Dispose() => _listener.Dispose();
}
