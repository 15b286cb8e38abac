using Sluice.Usenet.Primitives;

namespace Sluice.Server.Library;

/// <summary>
/// The form in which paths are stored and compared: NFC, with U+0001 between the names. No name holds that character and
/// none sorts before it, so the rows of a folder stand together and in the order of their names.
/// </summary>
internal static class PathKey
{
    /// <summary>Stands between two names.</summary>
    public const char Separator = '\u0001';

    /// <summary>Sorts behind all that is in a folder and before its next sibling.</summary>
    public const char Behind = '\u0002';

    /// <summary>One name in the form of a key.</summary>
    public static string OfName(string name) => NfcName.Of(name);

    /// <summary>The key of a path whose names are separated by <c>/</c>.</summary>
    public static string OfPath(string path) => OfName(path).Replace('/', Separator);

    /// <summary>The key of a path given as its names.</summary>
    public static string OfNames(IEnumerable<string> names) => string.Join(Separator, names.Select(OfName));

    /// <summary>The path of a key.</summary>
    public static string ToPath(string key) => key.Replace(Separator, '/');
}
