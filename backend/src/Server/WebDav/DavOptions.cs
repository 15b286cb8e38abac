namespace Sluice.Server.WebDav;

/// <summary>Protocol limits that settings can change.</summary>
internal sealed record DavOptions
{
    /// <summary>How long a GET waits for its first byte before a 503. Each read after the headers may take twice as long.</summary>
    public TimeSpan FirstByteTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>Time since the bandwidth limit last delayed a read; zero meanwhile. Timeouts restart, because throttling is no failure.</summary>
    public Func<TimeSpan> SincePaced { get; init; } = static () => TimeSpan.MaxValue;

    /// <summary>How long a client may read nothing of a body before its connection is reset. Infinite lets it pause forever.</summary>
    public TimeSpan WriteTimeout { get; init; } = Timeout.InfiniteTimeSpan;

    public long MaxUploadBytes { get; init; } = 300L * 1024 * 1024;
}

/// <summary>Returns the current limits. Called once per request, so that a change applies from the next request.</summary>
internal delegate DavOptions CurrentDavOptions();
