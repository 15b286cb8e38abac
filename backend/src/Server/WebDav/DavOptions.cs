namespace Sluice.Server.WebDav;

/// <summary>Limits of the protocol that settings can change.</summary>
internal sealed record DavOptions
{
    /// <summary>How long a GET waits for its first byte before it answers 503; after the headers it waits twice this for each next byte.</summary>
    public TimeSpan FirstByteTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>
    /// For how long no read has waited because the bandwidth is limited, zero while one does: the two deadlines count from there, because such
    /// a wait is no failure.
    /// </summary>
    public Func<TimeSpan> SincePaced { get; init; } = static () => TimeSpan.MaxValue;

    /// <summary>How long a client may take nothing of a body before the connection is reset; infinite lets it pause for ever.</summary>
    public TimeSpan WriteTimeout { get; init; } = Timeout.InfiniteTimeSpan;

    /// <summary>Bytes of the body of a PUT.</summary>
    public long MaxUploadBytes { get; init; } = 300L * 1024 * 1024;
}

/// <summary>The limits as they are now: asked once per request, so that a change counts from the next one.</summary>
internal delegate DavOptions CurrentDavOptions();
