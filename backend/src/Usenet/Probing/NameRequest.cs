using Sluice.Usenet.Media;

namespace Sluice.Usenet.Probing;

/// <summary>What is known of a file that needs a name.</summary>
/// <param name="Subject">File name in the subject, or null.</param>
/// <param name="Yenc">Name in the yEnc header, or null.</param>
/// <param name="Kind">What it is by its first bytes.</param>
/// <param name="Length">Its length in bytes.</param>
public readonly record struct NameRequest(string? Subject, string? Yenc, MediaKind Kind, long Length);
