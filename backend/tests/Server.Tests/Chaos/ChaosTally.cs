using System.Collections.Concurrent;
using System.Globalization;

namespace Sluice.Server.Tests.Chaos;

/// <summary>How a request ended.</summary>
internal enum ChaosEnd
{
    /// <summary>All requested bytes arrived and were right.</summary>
    Whole,

    /// <summary>The server aborted the answer or refused it with 410 because an article is missing at all providers.</summary>
    AtHole,

    /// <summary>The server aborted the answer at another offset.</summary>
    Cut,

    /// <summary>The server answered 503 or another error, or did not accept the connection.</summary>
    Refused,
}

/// <summary>Outcomes observed by all readers of a run. Thread-safe.</summary>
internal sealed class ChaosTally
{
    private readonly ConcurrentQueue<Request> _requests = new();
    private readonly ConcurrentQueue<(TimeSpan From, TimeSpan To)> _outages = new();
    private readonly ConcurrentQueue<string> _wrong = new();
    private long _bytes;

    /// <summary>Violations: wrong bytes, and answers that end normally but too short.</summary>
    public IReadOnlyCollection<string> Wrong => _wrong;

    public long Bytes => Volatile.Read(ref _bytes);

    public void BytesRead(int count) => Interlocked.Add(ref _bytes, count);

    public void IsWrong(string what) => _wrong.Enqueue(what);

    public void Ended(Request request) => _requests.Enqueue(request);

    /// <summary>Adds a period in which the news servers fail, recovery time included.</summary>
    public void Outage(TimeSpan from, TimeSpan to) => _outages.Enqueue((from, to));

    /// <summary>Returns the requests that overlap no outage.</summary>
    public IReadOnlyList<Request> Undisturbed()
    {
        var outages = _outages.ToArray();
        return [.. _requests.Where(request => !outages.Any(outage => request.From < outage.To && request.To > outage.From))];
    }

    public string Summary()
    {
        var undisturbed = Undisturbed();
        return string.Create(CultureInfo.InvariantCulture, $"""
            {_requests.Count} requests, {Bytes / 1e9:0.00} GB, {_wrong.Count} wrong; outside outages {undisturbed.Count}: {string.Join(", ", undisturbed.CountBy(request => request.End).OrderBy(count => count.Key).Select(count => $"{count.Key} {count.Value}"))}
            headers outside outages: median {Headers(0.5).TotalMilliseconds:0} ms, p99 {Headers(0.99).TotalMilliseconds:0} ms, longest {Headers(1).TotalMilliseconds:0} ms
            {string.Join('\n', undisturbed.Where(request => request.End is ChaosEnd.Cut or ChaosEnd.Refused).Take(20))}
            """);
    }

    /// <summary>Returns a quantile of the time to the headers over the undisturbed requests.</summary>
    public TimeSpan Headers(double share)
    {
        var sorted = Undisturbed().Select(request => request.Headers).Order().ToArray();
        return sorted.Length == 0 ? TimeSpan.Zero : sorted[(int)Math.Ceiling(share * sorted.Length) - 1];
    }

    /// <summary>One request; times count from the start of the run and exclude pauses of the process.</summary>
    internal readonly record struct Request(string Kind, TimeSpan From, TimeSpan To, TimeSpan Headers, ChaosEnd End, string Remark);
}
