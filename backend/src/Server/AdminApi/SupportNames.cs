using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;

namespace Sluice.Server.AdminApi;

/// <summary>
/// Replaces names of releases and files with words such as <c>film-1a2b</c>, and shortens addresses to their network (OPS-50). Within a bundle, a name always
/// gets the same word. The words do not depend on the names, so that a reader cannot confirm a guess.
/// </summary>
/// <remarks>Not thread-safe.</remarks>
internal sealed partial class SupportNames
{
    // Shorter names occur inside ordinary words.
    private const int MinLength = 4;

    // Odd, so that the first 65,536 words differ.
    private const int Step = 40_503;

    private readonly int _start;
    private readonly Dictionary<string, string> _words = new(StringComparer.OrdinalIgnoreCase);
    private readonly string[] _names;
    private readonly SearchValues<string> _any;

    /// <param name="names">The names to replace everywhere, except short names and numbers.</param>
    /// <param name="random">Chooses the words.</param>
    public SupportNames(IEnumerable<string> names, Random random)
    {
        _start = random.Next(0x10000);
        _names =
        [
            .. names.Where(IsDistinctive).Distinct(StringComparer.OrdinalIgnoreCase).OrderByDescending(name => name.Length),
        ];
        _any = SearchValues.Create(_names, StringComparison.OrdinalIgnoreCase);
    }

    /// <summary>Returns the word for a name.</summary>
    public string WordOf(string name)
    {
        if (!_words.TryGetValue(name, out var word))
            _words.Add(name, word = string.Create(CultureInfo.InvariantCulture, $"film-{((_words.Count * Step) + _start) & 0xFFFF:x4}"));
        return word;
    }

    /// <summary>Masks a log line that names releases or paths. Short names are replaced only in such lines.</summary>
    public string Mask(string text, IReadOnlyList<string> named)
    {
        foreach (var name in named.SelectMany(NamesIn).Where(name => name.Length > 0 && !IsDistinctive(name)))
            text = text.Replace(name, WordOf(name), StringComparison.OrdinalIgnoreCase);
        return Mask(text);
    }

    /// <summary>Replaces known names and all file names in a text, and shortens addresses.</summary>
    public string Mask(string text) => Address().Replace(FileName().Replace(MaskKnown(text), file => WordOf(file.Value)), address => Cut(address.Value));

    /// <summary>Returns the names in a log line's value: the name itself or, for a path of the tree, the names after the category.</summary>
    public static IEnumerable<string> NamesIn(string nameOrPath)
    {
        if (!nameOrPath.StartsWith('/'))
            return [nameOrPath];
        var parts = nameOrPath.Split('/', StringSplitOptions.RemoveEmptyEntries);
        if (parts is ["view", .. var viewed])
            parts = viewed;
        // Some messages repeat a path as sent by the client, percent-encoded.
        return parts is ["content" or "nzbs" or "completed-symlinks", _, .. var names]
            ? names.SelectMany(name => (string[])[name, Uri.UnescapeDataString(name)])
            : [];
    }

    /// <summary>Collects all words in texts: runs of letters and digits.</summary>
    public static HashSet<string> WordsOf(IEnumerable<string> texts)
    {
        var words = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
        var known = words.GetAlternateLookup<ReadOnlySpan<char>>();
        foreach (var text in texts)
        {
            foreach (var word in Word().EnumerateMatches(text))
                known.Add(text.AsSpan(word.Index, word.Length));
        }

        return words;
    }

    /// <summary>Whether a name can occur in texts with these words. False for most names of a large library.</summary>
    public static bool CanOccur(string name, HashSet<string> words)
    {
        var known = words.GetAlternateLookup<ReadOnlySpan<char>>();
        foreach (var word in Word().EnumerateMatches(name))
        {
            if (!known.Contains(name.AsSpan(word.Index, word.Length)))
                return false;
        }

        return true;
    }

    private static bool IsDistinctive(string name) => name.Length >= MinLength && name.Any(char.IsLetter);

    private string MaskKnown(string text)
    {
        var (masked, kept, at) = (new StringBuilder(), 0, 0);
        while (at < text.Length && text.AsSpan(at).IndexOfAny(_any) is var next and >= 0)
        {
            at += next;
            if (!TryFind(text, at, out var name))
            {
                at++;
                continue;
            }

            masked.Append(text, kept, at - kept).Append(WordOf(name));
            kept = at += name.Length;
        }

        return masked.Append(text, kept, text.Length - kept).ToString();
    }

    /// <summary>Finds the longest name at a position, unless it is part of a longer word.</summary>
    private bool TryFind(string text, int at, [NotNullWhen(true)] out string? name)
    {
        name = IsInWord(text, at) ? null : _names.FirstOrDefault(name =>
            text.AsSpan(at).StartsWith(name, StringComparison.OrdinalIgnoreCase) && !IsInWord(text, at + name.Length));
        return name is not null;
    }

    /// <summary>Whether the characters before and after a position belong to the same word.</summary>
    private static bool IsInWord(string text, int at) => at > 0 && at < text.Length && char.IsLetterOrDigit(text[at - 1]) && char.IsLetterOrDigit(text[at]);

    /// <summary>Shortens an address to its first 24 bits, or 48 bits for IPv6. Addresses of this machine stay unchanged.</summary>
    private static string Cut(string text)
    {
        if (!IPAddress.TryParse(text, out var address) || IPAddress.IsLoopback(address) || address.Equals(IPAddress.IPv6Any) || address.Equals(IPAddress.Any))
            return text;
        if (address.IsIPv4MappedToIPv6)
            address = address.MapToIPv4();
        var (bytes, bits) = (address.GetAddressBytes(), address.AddressFamily == AddressFamily.InterNetwork ? 24 : 48);
        bytes.AsSpan(bits / 8).Clear();
        return string.Create(CultureInfo.InvariantCulture, $"{new IPAddress(bytes)}/{bits}");
    }

    [GeneratedRegex(@"[\p{L}\p{Nd}]+")]
    private static partial Regex Word();

    /// <summary>Matches a word with the extension of a film, archive or companion file. Starts only where a word starts, so that long text is cheap.</summary>
    [GeneratedRegex(
        @"(?<![^\s/\\:;,""'“”()\[\]{}<>|])[^\s/\\:;,""'“”()\[\]{}<>|]+\.(?:mkv|mp4|m4v|avi|ts|m2ts|wmv|mov|webm|mpg|mpeg|iso|mp3|flac|m4a|m4b|epub|rar|r\d\d|7z|zip|par2|nzb|nfo|sfv|srt|ass|ssa|vtt|sub|idx|strm|rclonelink)\b",
        RegexOptions.IgnoreCase | RegexOptions.CultureInvariant)]
    private static partial Regex FileName();

    /// <summary>Matches anything that may be an address. A network, written with a slash, identifies no host, so it is excluded.</summary>
    [GeneratedRegex(@"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9A-Fa-f]{1,4}|\d{1,3}(?:\.\d{1,3}){3})?)(?![\w/]|\.\d)")]
    private static partial Regex Address();
}
