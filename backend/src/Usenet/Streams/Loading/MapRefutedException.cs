using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>An intact article says that its bytes lie elsewhere than the map does. The stream has the map corrected and goes on.</summary>
internal sealed class MapRefutedException(Segment claim) : IOException($"Article {claim.Index + 1} of the file lies elsewhere than expected.")
{
    /// <summary>Where the article says that it lies.</summary>
    public Segment Claim => claim;
}
