using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;
using Microsoft.Extensions.Options;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Outbound;

/// <summary>A version offered by a feed.</summary>
/// <param name="Version">Three numbers, such as 1.2.0.</param>
/// <param name="Notes">One line of text for users; empty if the feed contains none.</param>
internal sealed record OfferedVersion(Version Version, string Notes);

/// <summary>
/// Queries the feed set by the administrator for the newest version, ten minutes after startup and then once a day (OPS-22). Nothing is downloaded or run.
/// Thread-safe.
/// </summary>
internal sealed class UpdateFeed(GuardedClient client, IOptionsMonitor<UpdateOptions> options, TimeProvider time, ILogger<UpdateFeed> logger) : IWorker
{
    public static readonly TimeSpan Interval = TimeSpan.FromDays(1);

    /// <summary>Delay after startup, so that a server that restarts repeatedly sends no requests.</summary>
    public static readonly TimeSpan FirstDelay = TimeSpan.FromMinutes(10);

    private const int MaxBytes = 64 << 10;
    private const int MaxNotes = 300;

    private static readonly TimeSpan Deadline = TimeSpan.FromSeconds(60);

    private readonly WakeSignal _signal = new(time);
    private OfferedVersion? _offered;

    public string Name => "the update feed";

    /// <summary>The version in the feed if it is newer than this build; otherwise null.</summary>
    public OfferedVersion? Newer => Volatile.Read(ref _offered) is { } offered && offered.Version > ThreeOf(Version.Parse(BuildInfo.Version)) ? offered : null;

    public async Task RunAsync(CancellationToken stopping)
    {
        using var changes = options.OnChange((_, _) => _signal.Set());
        var (feed, since, pause) = (options.CurrentValue.Feed, time.GetTimestamp(), FirstDelay);
        while (true)
        {
            if (pause - time.GetElapsedTime(since) is var left && left > TimeSpan.Zero)
                await _signal.WaitAsync(left, stopping);
            var set = options.CurrentValue.Feed;
            // Any setting may have changed, but only a changed address is queried early.
            if (set == feed && time.GetElapsedTime(since) < pause)
                continue;
            if (set != feed)
                Volatile.Write(ref _offered, null);
            (feed, since, pause) = (set, time.GetTimestamp(), Interval);
            if (feed is not null)
                await AskAsync(feed, stopping);
        }
    }

    /// <summary>Parses a feed's response: <c>{"version":"1.2.0","notes":"One line."}</c>. Returns null if it contains no version.</summary>
    public static OfferedVersion? Parse(ReadOnlySpan<byte> json)
    {
        try
        {
            return JsonSerializer.Deserialize(json, UpdateFeedJson.Default.FeedAnswer) is { Version: { } text } answer && Version.TryParse(text, out var version)
                ? new OfferedVersion(ThreeOf(version), OneLine(answer.Notes ?? ""))
                : null;
        }
        catch (JsonException)
        {
            return null;
        }
    }

    private async Task AskAsync(Uri feed, CancellationToken stopping)
    {
        if (await FetchAsync(feed, stopping) is { } cause)
            OutboundLog.FeedFailed(logger, cause, Interval.TotalHours);
        else if (Newer is { } newer)
            OutboundLog.NewerVersion(logger, newer.Version.ToString());
    }

    /// <summary>Fetches the version and keeps it in memory. Returns why that failed, or null.</summary>
    private async Task<string?> FetchAsync(Uri feed, CancellationToken stopping)
    {
        using var deadline = new CancellationTokenSource(Deadline, time);
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(stopping, deadline.Token);
        try
        {
            using var answer = await client.GetAsync(feed, cancel.Token);
            if (!answer.IsSuccessStatusCode)
                return string.Create(CultureInfo.InvariantCulture, $"it answered {(int)answer.StatusCode}");
            await answer.Content.LoadIntoBufferAsync(MaxBytes, cancel.Token);
            if (Parse(await answer.Content.ReadAsByteArrayAsync(cancel.Token)) is not { } offered)
                return "its answer has no version";
            Volatile.Write(ref _offered, offered);
            return null;
        }
        catch (Exception e) when (e is AddressRefusedException or HttpRequestException or IOException)
        {
            return e.Message;
        }
        catch (OperationCanceledException) when (deadline.IsCancellationRequested && !stopping.IsCancellationRequested)
        {
            return string.Create(CultureInfo.InvariantCulture, $"no answer within {Deadline.TotalSeconds} s");
        }
    }

    // Otherwise, 1.2 would be older than 1.2.0.
    private static Version ThreeOf(Version version) => new(version.Major, version.Minor, Math.Max(version.Build, 0));

    private static string OneLine(string notes)
    {
        var line = string.Concat(notes.Take(MaxNotes).Select(c => char.IsControl(c) ? ' ' : c)).Trim();
        return notes.Length > MaxNotes ? line + "…" : line;
    }
}

/// <summary>A feed's response. Other members are ignored.</summary>
internal sealed record FeedAnswer(string? Version, string? Notes);

[JsonSourceGenerationOptions(JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(FeedAnswer))]
internal sealed partial class UpdateFeedJson : JsonSerializerContext;
