using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Streams.Cache;

namespace Sluice.Server.Providers;

/// <summary>Opens the disk cache once the settings are loaded, and follows changes of its size.</summary>
/// <remarks>Outlives every engine that uses it, so that other changed settings do not empty it.</remarks>
internal sealed class SegmentCacheHost(IOptionsMonitor<SegmentCacheOptions> options, DataFolder folder, ILoggerFactory loggers) : IAsyncDisposable
{
    private DiskSegmentCache? _cache;
    private IDisposable? _watch;

    /// <summary>Opens the cache; null if the settings disable it. Call once.</summary>
    public DiskSegmentCache? Open()
    {
        var wanted = options.CurrentValue;
        if (!wanted.Enabled)
            return null;
        _cache = new DiskSegmentCache(
            new DiskCacheOptions(wanted.Path ?? folder.Segments) { MaxBytes = wanted.MaxBytes, KeepsAll = wanted.KeepsAll }, loggers);
        _watch = options.OnChange(changed => _cache.Limit(changed.MaxBytes));
        return _cache;
    }

    public ValueTask DisposeAsync()
    {
        _watch?.Dispose();
        return _cache?.DisposeAsync() ?? ValueTask.CompletedTask;
    }
}
