using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.RegularExpressions;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Masks known secrets in every line before it leaves the process (S4, CFG-54), and passwords in NZB names by pattern (SAB-27). Known secrets come from the
/// settings and from <see cref="Hide"/>.
/// </summary>
internal sealed partial class LogRedactor
{
    private const string Mask = "********";

    // Shorter values occur inside ordinary words. Masking them would make logs unreadable and the values guessable.
    private const int MinLength = 4;

    private static readonly SearchValues<string> NameMarks = SearchValues.Create(["{{", "%7B%7B", "password"], StringComparison.OrdinalIgnoreCase);

    private readonly SettingsSource _settings;

    // Guards writes to _others. The array is always replaced as a whole, so reads need no lock.
    private readonly Lock _gate = new();
    private volatile string[] _others = [];
    private volatile Secrets _secrets;

    public LogRedactor(SettingsSource settings)
    {
        _settings = settings;
        _secrets = Collect(settings.Current, _others);
    }

    /// <summary>Masks a secret that is not in the settings, until the process ends.</summary>
    public void Hide(string secret)
    {
        lock (_gate)
            _others = [.. _others, secret];
    }

    public string Redact(string text)
    {
        var secrets = _secrets;
        // Compare for every line instead of using a change callback, because another callback may log new secrets first.
        if (secrets.Source != _settings.Current || secrets.Others != _others)
            _secrets = secrets = Collect(_settings.Current, _others);
        if (text.AsSpan().ContainsAny(secrets.Any))
        {
            foreach (var secret in secrets.Ordered)
                text = text.Replace(secret, Mask, StringComparison.Ordinal);
        }

        return text.AsSpan().ContainsAny(NameMarks) ? NamePassword().Replace(text, "${before}" + Mask) : text;
    }

    /// <summary>Matches <c>name{{pw}}.nzb</c> and <c>name password=pw.nzb</c>, both plain and in a URL.</summary>
    [GeneratedRegex(
        @"(?<before>\{\{|%7B%7B).*?(?=\}\}|%7D%7D)|(?<before>password(=|%3D))(.*?(?=\.(nzb|zip|gz|bz2)\b)|[^/&\s""]+)",
        RegexOptions.IgnoreCase | RegexOptions.CultureInvariant)]
    private static partial Regex NamePassword();

    private static Secrets Collect(EffectiveSettings settings, string[] others)
    {
        var secrets = settings.All
            .Where(setting => setting.Definition.Secret)
            .SelectMany(ValuesOf)
            .Concat(others)
            .SelectMany(Spellings)
            .Where(secret => secret.Length >= MinLength)
            .Distinct()
            // Mask longer secrets first, because one secret may contain another.
            .OrderByDescending(secret => secret.Length)
            .ToArray();
        return new Secrets(settings, others, secrets, SearchValues.Create(secrets, StringComparison.Ordinal));
    }

    private static IEnumerable<string> ValuesOf(EffectiveSetting setting)
    {
        if (setting.Definition.Type == SettingType.LineList)
            return SettingText.ReadList(setting.Value) ?? [];
        if (setting.Definition.Type != SettingType.Json)
            return [setting.Value];

        // The effective value is valid JSON, because it has already been parsed.
        using var document = JsonDocument.Parse(setting.Value);
        return SecretLeaves(document.RootElement).ToList();
    }

    /// <summary>Returns every value stored under a secret's name. Includes duplicate names, although only one of them takes effect.</summary>
    private static IEnumerable<string> SecretLeaves(JsonElement node) => node.ValueKind switch
    {
        JsonValueKind.Object => node.EnumerateObject().SelectMany(SecretLeaves),
        JsonValueKind.Array => node.EnumerateArray().SelectMany(SecretLeaves),
        _ => [],
    };

    private static IEnumerable<string> SecretLeaves(JsonProperty property)
    {
        if (property.Value.ValueKind is JsonValueKind.Object or JsonValueKind.Array)
            return SecretLeaves(property.Value);
        if (JsonText.NameOf(property) is not { } name || !IsSecretName(name))
            return [];

        // Skip a string that cannot be decoded, because no line can contain it.
        var secret = property.Value.ValueKind == JsonValueKind.String ? JsonText.Of(property.Value) : property.Value.GetRawText();
        return secret is null ? [] : [secret];
    }

    private static bool IsSecretName(string name) =>
        name.ToUpperInvariant() is "USER" or "PASS" or "PASSWORD" or "APIKEY" or "SECRET";

    /// <summary>Returns the forms in which a secret may appear: plain, in a URL, in JSON.</summary>
    private static IEnumerable<string> Spellings(string secret) =>
        [secret, Uri.EscapeDataString(secret), JavaScriptEncoder.Default.Encode(secret)];

    private sealed record Secrets(EffectiveSettings Source, string[] Others, string[] Ordered, SearchValues<string> Any);
}
