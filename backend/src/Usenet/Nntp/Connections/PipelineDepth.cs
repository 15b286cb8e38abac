namespace Sluice.Usenet.Nntp.Connections;

/// <summary>How many commands a connection of one provider has outstanding at a time. Thread-safe.</summary>
internal sealed class PipelineDepth(ProviderOptions provider, SharedResources shared)
{
    private volatile ProviderOptions _provider = provider;
    private readonly PipelineTrial _trial = new(shared.Time);

    /// <summary>Why the depth is 1 whatever the line would bear; null while it is not.</summary>
    public string? PinnedBecause => _trial.PinnedBecause;

    /// <summary>The settings of the account have changed.</summary>
    public void Change(ProviderOptions provider) => _provider = provider;

    /// <summary>BODY commands: one under way, and as many as fit into a round trip.</summary>
    /// <param name="line">What a connection has shown, or its provider.</param>
    public int Bodies(LineEstimate line)
    {
        const int Unmeasured = 2;
        return _trial.MayPipeline
            ? _provider.PipeliningDepth ?? line.RepliesInARoundTrip(line.Transfer, Unmeasured, shared.Options.MaxPipeliningDepth)
            : 1;
    }

    /// <summary>BODY commands of readers, on a connection that has shown nothing yet.</summary>
    /// <param name="line">What its provider has shown.</param>
    public int PlaybackBodies(LineEstimate line) => Chosen ?? Bodies(line);

    /// <summary>STAT commands, which are worth sending together.</summary>
    /// <param name="line">What a connection has shown, or its provider.</param>
    public int Stats(LineEstimate line)
    {
        // The sample that an import asks for.
        const int Unmeasured = 64;
        return _provider.PipeliningDepth != 1 && shared.Options.BackgroundDepth > 1 && _trial.MayPipeline
            ? line.RepliesInARoundTrip(line.Answer, Unmeasured, shared.Options.MaxStatDepth)
            : 1;
    }

    // What is said about one provider goes before what is said about all.
    private int? Chosen => _provider.PipeliningDepth is null && _trial.MayPipeline ? shared.Options.PlaybackDepth : null;

    /// <summary>How much a pool places on a connection at the moment.</summary>
    /// <param name="line">What the provider has shown.</param>
    /// <param name="mayDial">Whether a connection is being opened, or could be.</param>
    public LeaseTerms Terms(LineEstimate line, bool mayDial) => new(
        Bodies(line),
        mayDial && line.BytesPerSecond > 0 ? (long)(line.Handshake * line.BytesPerSecond) : long.MaxValue,
        Stats(line))
    {
        MoreMayServe = mayDial,
        PlaybackDepth = Chosen,
        BackgroundDepth = shared.Options.BackgroundDepth,
    };

    /// <summary>A reply has come to its end in its order.</summary>
    public void Answered(PendingReply reply)
    {
        if (_trial.Answered(reply.WasPipelined))
            NntpLog.PipeliningGivenUp(shared.Logger, _provider.Name, _trial.PinnedBecause!);
    }

    /// <summary>A connection has broken by the server's doing.</summary>
    /// <param name="fault">How.</param>
    /// <param name="outstanding">Commands whose replies were to come.</param>
    public void Broke(NntpFault fault, int outstanding)
    {
        if (outstanding > 0)
            _trial.Broke(fault, pipelined: outstanding > 1);
    }
}
