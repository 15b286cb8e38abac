namespace Sluice.Usenet.Nntp;

/// <summary>How many commands a connection of one provider has outstanding at a time. Thread-safe.</summary>
internal sealed class PipelineDepth(ProviderOptions provider, NntpOptions options, LineEstimate line)
{
    private const long TypicalArticleBytes = 740_000;

    /// <summary>BODY commands.</summary>
    public int Bodies => provider.PipeliningDepth ?? line.Depth(TypicalArticleBytes, options.MaxPipeliningDepth);

    /// <summary>STAT commands, which are worth sending together.</summary>
    public int Stats => provider.PipeliningDepth == 1 ? 1 : line.StatDepth(options.MaxStatDepth);
}
