using Sluice.Usenet.Primitives;

namespace Sluice.Server.Library;

/// <summary>
/// The stored form of paths: NFC, with U+0001 between names. No name contains U+0001, and no character sorts before it. The rows of a folder are therefore
/// contiguous and sorted by name.
/// </summary>
internal static class PathKey
{
    public const char Separator = '\u0001';

    /// <summary>Sorts after the contents of a folder and before its next sibling.</summary>
    public const char Behind = '\u0002';

    public static string OfName(string name) => NfcName.Of(name);

    public static string OfPath(string path) => OfName(path).Replace('/', Separator);

    public static string OfNames(IEnumerable<string> names) => string.Join(Separator, names.Select(OfName));

    public static string ToPath(string key) => key.Replace(Separator, '/');
}
