namespace Sluice.Server.WebDav;

/// <summary>Protocol limits that settings can change.</summary>
internal sealed record DavOptions
{
    /// <summary>How long a GET waits for the first byte before it sends a 503. Each read after the headers may take twice as long.</summary>
    public TimeSpan FirstByteTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>Time since the bandwidth limit last delayed a read; zero during a delay. Throttling restarts timeouts, because it is not a failure.</summary>
    public Func<TimeSpan> SincePaced { get; init; } = static () => TimeSpan.MaxValue;

    /// <summary>How long a client may read nothing of a body before its connection is reset. Infinite lets the client pause forever.</summary>
    public TimeSpan WriteTimeout { get; init; } = Timeout.InfiniteTimeSpan;

    public long MaxUploadBytes { get; init; } = 300L * 1024 * 1024;
}

/// <summary>Returns the current limits. Called once per request, so that a changed setting applies from the next request.</summary>
internal delegate DavOptions CurrentDavOptions();
