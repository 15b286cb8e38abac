namespace Sluice.Usenet.Nntp.Admission;

/// <summary>Decides how many commands a connection of one provider has outstanding. Thread-safe.</summary>
internal sealed class PipelineDepth(ProviderOptions provider, SharedAdmission shared)
{
    private volatile ProviderOptions _provider = provider;
    private readonly PipelineTrial _trial = new(shared.Time);

    /// <summary>The reason the depth is fixed at 1; null if the depth adapts.</summary>
    public string? PinnedBecause => _trial.PinnedBecause;

    public void Change(ProviderOptions provider) => _provider = provider;

    /// <summary>Maximum number of outstanding BODY commands: one arriving, plus as many as fit into a round trip.</summary>
    public int Bodies(LineEstimate line)
    {
        const int Unmeasured = 2;
        return _trial.MayPipeline
            ? _provider.PipeliningDepth ?? line.RepliesInARoundTrip(line.Transfer, Unmeasured, shared.Options.MaxPipeliningDepth)
            : 1;
    }

    /// <summary>Maximum number of outstanding BODY commands for readers, on a connection without own measurements.</summary>
    public int PlaybackBodies(LineEstimate line) => Chosen ?? Bodies(line);

    /// <summary>Maximum number of outstanding STAT commands. Their short replies make it worthwhile to send many together.</summary>
    public int Stats(LineEstimate line)
    {
        // The sample size of an import.
        const int Unmeasured = 64;
        return _provider.PipeliningDepth != 1 && shared.Options.BackgroundDepth > 1 && _trial.MayPipeline
            ? line.RepliesInARoundTrip(line.Answer, Unmeasured, shared.Options.MaxStatDepth)
            : 1;
    }

    // A depth set for one provider takes precedence over the global one.
    private int? Chosen => _provider.PipeliningDepth is null && _trial.MayPipeline ? shared.Options.PlaybackDepth : null;

    /// <summary>The current terms for leases. <paramref name="mayDial"/> is whether another connection is being dialed or could be.</summary>
    public LeaseTerms Terms(LineEstimate line, bool mayDial) => new(
        Bodies(line),
        mayDial && line.BytesPerSecond > 0 ? (long)(line.Handshake * line.BytesPerSecond) : long.MaxValue,
        Stats(line))
    {
        MoreMayServe = mayDial,
        PlaybackDepth = Chosen,
        BackgroundDepth = shared.Options.BackgroundDepth,
    };

    public void Answered(bool wasPipelined)
    {
        if (_trial.Answered(wasPipelined))
            NntpLog.PipeliningGivenUp(shared.Logger, _provider.Name, _trial.PinnedBecause!);
    }

    /// <summary>Counts a connection broken by the server while <paramref name="outstanding"/> commands were unanswered.</summary>
    public void Broke(NntpFault fault, int outstanding)
    {
        if (outstanding > 0)
            _trial.Broke(fault, pipelined: outstanding > 1);
    }
}
