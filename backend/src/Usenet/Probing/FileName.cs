namespace Sluice.Usenet.Probing;

/// <summary>The name that a file gets.</summary>
/// <param name="Name">Clean and unique within the release.</param>
/// <param name="Original">The best name that was posted, as it was posted, for display; equal to <paramref name="Name"/> when nothing was changed.</param>
/// <param name="Source">Where it comes from.</param>
public readonly record struct FileName(string Name, string Original, NameSource Source);
