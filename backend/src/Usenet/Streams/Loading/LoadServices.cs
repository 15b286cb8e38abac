using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>All that the loads of one engine share.</summary>
/// <param name="Source">Where articles come from; not owned.</param>
/// <param name="Options">Memory and trust.</param>
/// <param name="Blocks">Where bytes are decoded to.</param>
/// <param name="Trust">Decides whose bytes may leave before they are proved.</param>
/// <param name="Damage">Knows which segments are gone.</param>
/// <param name="Time">Clock.</param>
/// <param name="Logger">Where damaged articles are noted.</param>
internal sealed record LoadServices(
    IArticleSource Source, StreamOptions Options, BlockPool Blocks, TrustLedger Trust, DamageLedger Damage, TimeProvider Time, ILogger Logger)
{
    /// <summary>Lends the decoders of articles.</summary>
    public DecoderPool Decoders { get; } = new();
}
