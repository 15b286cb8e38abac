using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>What all streams of one engine share.</summary>
/// <param name="Fetcher">Loads segments.</param>
/// <param name="Budget">Shares the memory.</param>
/// <param name="Line">What readers of late have found out about the line.</param>
/// <param name="Options">Memory and trust.</param>
/// <param name="Time">Clock.</param>
internal sealed record StreamResources(SegmentFetcher Fetcher, ByteBudget Budget, LineMemory Line, StreamOptions Options, TimeProvider Time);
