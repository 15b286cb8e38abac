using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>What the first question of a fetch has brought.</summary>
/// <param name="Reply">The answer.</param>
/// <param name="Proof">What the article is worth, if there is one.</param>
/// <param name="Failure">Why there is no answer; else null.</param>
/// <param name="Token">The fetch's when it was asked.</param>
internal sealed record FirstAnswer(ArticleReply Reply, SegmentProof Proof, Exception? Failure, CancellationToken Token);
