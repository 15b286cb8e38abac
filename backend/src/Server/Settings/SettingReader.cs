using System.Globalization;
using System.Net;
using System.Text.Json;
using System.Text.Json.Nodes;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Settings;

internal static class SettingReader
{
    // `demo` is the built-in clip's folder (DAV-7), and `.probe` the probe link's folder (DAV-18). The rest have special meanings.
    private static readonly string[] ReservedNames = [".", "..", "*", "demo", ".probe"];

    // Same as the maximum length of an item's password.
    private const int MaxEntry = 1024;

    /// <summary>Returns the canonical form; null if invalid. <paramref name="bound"/> is then the nearest allowed number if the text is a number.</summary>
    public static string? Read(SettingDefinition definition, string text, out string? bound)
    {
        bound = null;
        if (!SettingText.IsWellFormed(text))
            return null;

        return definition.Type switch
        {
            SettingType.Key or SettingType.Path or SettingType.Line when text.Length == 0 && definition.EmptyAllowed => text,
            SettingType.Boolean => SettingText.ReadBoolean(text) is { } value ? (value ? "true" : "false") : null,
            SettingType.Number => ReadNumber(definition, text, out bound),
            SettingType.Choice => definition.Words.FirstOrDefault(word => word.Equals(text.Trim(), StringComparison.OrdinalIgnoreCase)),
            SettingType.Text => IsLine(definition, text) && !text.Contains(':', StringComparison.Ordinal) ? text : null,
            SettingType.Line => IsLine(definition, text) ? text : null,
            SettingType.Url => ReadUrl(definition, text.Trim()),
            SettingType.Key => HasLength(definition, text) && text.All(c => char.IsAsciiLetterOrDigit(c) || c is '_' or '-') ? text : null,
            SettingType.Password => PasswordHash.IsHash(text) || ChosenPassword.Judge(text) is not null ? text : null,
            SettingType.Name => ReadName(text),
            SettingType.NameList => ReadNames(definition, text),
            SettingType.NetworkList => ReadNetworks(definition, text),
            SettingType.HostList => ReadList(definition, text, ReadHost),
            SettingType.LineList => ReadList(definition, text, ReadEntry),
            SettingType.Path => ReadPath(text.Trim()),
            SettingType.PathList => ReadList(definition, text, ReadPath),
            SettingType.UrlPath => ReadUrlPath(text),
            SettingType.Schedule => BandwidthSchedule.Read(text) is { } schedule ? (schedule.IsEmpty ? "" : text) : null,
            _ => ReadJson(text),
        };
    }

    /// <summary>Parses a network or a single address; null if it is neither.</summary>
    public static IPNetwork? ReadNetwork(string text)
    {
        if (IPNetwork.TryParse(text, out var network))
            return network;

        return IPAddress.TryParse(text, out var address) ? new IPNetwork(address, address.GetAddressBytes().Length * 8) : null;
    }

    private static string? ReadNumber(SettingDefinition definition, string text, out string? bound)
    {
        bound = null;
        if (SettingText.ReadNumber(text) is not { } number)
            return null;

        if ((number >= definition.Min && number <= definition.Max) || (number == 0 && definition.ZeroAllowed))
            return number.ToString(CultureInfo.InvariantCulture);

        var nearest = number > definition.Max ? definition.Max
            : number < 0 && definition.ZeroAllowed ? 0
            : definition.Min;
        bound = nearest.ToString(CultureInfo.InvariantCulture);
        return null;
    }

    private static bool HasLength(SettingDefinition definition, string text) => text.Length >= definition.Min && text.Length <= definition.Max;

    private static bool IsLine(SettingDefinition definition, string text) => HasLength(definition, text) && SettingText.IsPlain(text);

    /// <summary>Returns the NFC form of a folder name that every client can display (DAV-13); null if the name is not suitable.</summary>
    private static string? ReadName(string text)
    {
        return NfcName.TryOf(text.Trim(), out var name)
            && name.Length is > 0 and <= 64
            && name == NameCleaner.Clean(name, windowsSafe: true)
            && !ReservedNames.Contains(name, StringComparer.OrdinalIgnoreCase) ? name : null;
    }

    private static string? ReadNames(SettingDefinition definition, string text)
    {
        if (SettingText.ReadList(text) is not { } entries || entries.Count > definition.Max)
            return null;

        var names = entries.Select(ReadName).ToList();
        return names.Contains(null) ? null : SettingText.WriteList(names.OfType<string>().Distinct(StringComparer.OrdinalIgnoreCase));
    }

    private static string? ReadNetworks(SettingDefinition definition, string text)
    {
        if (SettingText.ReadList(text) is not { } networks || networks.Count > definition.Max)
            return null;

        return networks.All(network => ReadNetwork(network) is not null) ? SettingText.WriteList(networks) : null;
    }

    /// <summary>Parses a list and converts each entry to its canonical form; null if any entry is invalid.</summary>
    private static string? ReadList(SettingDefinition definition, string text, Func<string, string?> read)
    {
        if (SettingText.ReadList(text) is not { } entries || entries.Count > definition.Max)
            return null;

        var values = entries.Select(read).ToList();
        return values.Contains(null) ? null : SettingText.WriteList(values.OfType<string>().Distinct());
    }

    private static string? ReadEntry(string text) => text.Length <= MaxEntry && SettingText.IsPlain(text) ? text : null;

    private static string? ReadHost(string text)
    {
        if (text == "*" || ReadNetwork(text) is not null)
            return text;

        return Uri.CheckHostName(text) == UriHostNameType.Dns ? text.ToLowerInvariant() : null;
    }

    private static string? ReadPath(string text)
    {
        var isAbsolute = text.StartsWith('/') || (text.Length > 2 && char.IsAsciiLetter(text[0]) && text[1] == ':' && text[2] is '\\' or '/');
        if (!isAbsolute || text.Length > 4096 || !SettingText.IsPlain(text))
            return null;

        // Strip the trailing slash, because links are built as <path>/.ids/...
        return text.Length > 1 ? text.TrimEnd('/') : text;
    }

    /// <summary>Normalizes the path so that each name has one leading slash and there is no trailing slash.</summary>
    private static string? ReadUrlPath(string text)
    {
        var names = text.Split('/', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
        var isPath = names.All(name => name is not ("." or "..") && name.All(c => char.IsAsciiLetterOrDigit(c) || c is '.' or '_' or '~' or '-'));
        return isPath && text.Length <= 256 ? string.Concat(names.Select(name => "/" + name)) : null;
    }

    /// <summary>Strips the trailing slash. Rejects credentials, because logs may contain addresses; credentials have separate settings.</summary>
    private static string? ReadUrl(SettingDefinition definition, string text)
    {
        if (text.Length == 0)
            return text;

        if (!Uri.TryCreate(text, UriKind.Absolute, out var url) || url.AbsoluteUri.Length > 1024)
            return null;
        if (url.Scheme != "https" && (url.Scheme != "http" || definition.NeedsTls))
            return null;

        return url is { Host.Length: > 0, UserInfo.Length: 0, Query.Length: 0, Fragment.Length: 0 } ? url.AbsoluteUri.TrimEnd('/') : null;
    }

    private static string? ReadJson(string text)
    {
        try
        {
            return JsonNode.Parse(text) is JsonObject ? text : null;
        }
        catch (JsonException)
        {
            return null;
        }
    }
}
