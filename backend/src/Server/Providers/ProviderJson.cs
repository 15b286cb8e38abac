using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Providers;

/// <summary>
/// Parses <c>usenet.providers</c> (docs/configuration.md, "Providers"). Omits an invalid element and reports it by index and field, so that the others
/// work. Pure.
/// </summary>
internal static class ProviderJson
{
    /// <summary>The largest data cap, and the most that can be added to it: an exabyte.</summary>
    public const long MaxBytes = 1_000_000_000_000_000_000;

    private const int MaxHostLength = 253;
    private const int MaxTextLength = 512;
    private const int PinDigits = 64;

    /// <summary>Parses all elements, with one warning, without values, for each omitted element.</summary>
    public static IReadOnlyList<ProviderOptions> Read(string json, out IReadOnlyList<string> warnings) =>
        [.. ReadElements(json, out warnings).Select(element => element.Provider)];

    /// <summary>Parses all elements with their indexes, with one warning, without values, for each omitted element.</summary>
    public static IReadOnlyList<(int Element, ProviderOptions Provider)> ReadElements(string json, out IReadOnlyList<string> warnings)
    {
        var complaints = new List<string>();
        warnings = complaints;
        var providers = new List<(int, ProviderOptions)>();
        try
        {
            using var document = JsonDocument.Parse(json);
            if (Property(document.RootElement, "Providers") is not { ValueKind: JsonValueKind.Array } list)
            {
                complaints.Add("usenet.providers has no list named Providers");
                return providers;
            }

            var index = 0;
            foreach (var element in list.EnumerateArray())
            {
                Add(element, index++, providers, complaints);
            }
        }
        catch (JsonException)
        {
            // Only warn, because an invalid value must not prevent startup.
            complaints.Add("usenet.providers is no readable JSON");
        }

        return providers;
    }

    /// <summary>Returns the invalid fields of one element. Each sentence continues after the field's name.</summary>
    public static IReadOnlyList<(string Field, string Sentence)> Faults(string element)
    {
        using var document = JsonDocument.Parse(element);
        var fields = new ProviderFields(document.RootElement);
        _ = Read(fields);
        return fields.Faults;
    }

    private static void Add(JsonElement element, int index, List<(int Element, ProviderOptions Provider)> providers, List<string> complaints)
    {
        if (providers.Count == ProviderSet.MaxProviders)
        {
            complaints.Add(string.Create(CultureInfo.InvariantCulture, $"usenet.providers: element {index} is left out, because {ProviderSet.MaxProviders} are the most"));
            return;
        }

        var fields = new ProviderFields(element);
        var provider = Read(fields);
        if (fields.Fault is { } fault)
        {
            complaints.Add(string.Create(CultureInfo.InvariantCulture, $"usenet.providers: element {index} is left out: {fault}"));
            return;
        }

        // Make a duplicate id unique, because accounts with the same id would share limits, misses and failures.
        if (providers.Any(other => other.Provider.Id == provider.Id))
            provider = provider with { Id = IdOf($"{index} {provider.Id}") };
        providers.Add((index, provider));
    }

    private static ProviderOptions Read(ProviderFields fields)
    {
        var useTls = fields.Boolean("UseSsl", true);
        var host = fields.Text("Host", MaxHostLength);
        if (host.Length == 0 || host.Any(char.IsWhiteSpace))
            fields.Refuse("Host", "must be a host name or an address");
        var port = fields.Number("Port", 1, 65_535, useTls ? 563 : 119);
        var user = fields.Text("User", MaxTextLength);
        var pin = fields.Text("TlsPin", MaxTextLength).Replace(":", "", StringComparison.Ordinal);
        if (pin.Length > 0 && (pin.Length != PinDigits || !pin.All(char.IsAsciiHexDigit)))
            fields.Refuse("TlsPin", "must be a SHA-256 in hex");
        var name = fields.Text("Nickname", MaxTextLength);
        var backbone = fields.Text("StorageGroup", MaxTextLength);
        var id = fields.Text("ProviderId", MaxTextLength);
        var given = Guid.Empty;
        if (id.Length > 0 && !Guid.TryParse(id, out given))
            fields.Refuse("ProviderId", "must be a GUID");

        var kind = (ProviderKind)fields.Number("Type", 0, 3, (int)ProviderKind.Pooled);
        return new ProviderOptions
        {
            Id = given != Guid.Empty ? given : IdOf($"{host}:{port} {user}"),
            Name = name.Length > 0 ? name : host,
            Host = host,
            Port = port,
            UseTls = useTls,
            SkipTlsVerification = fields.Boolean("SkipTlsVerification", false),
            TlsPin = pin.Length > 0 ? pin : null,
            User = user.Length > 0 ? user : null,
            Password = fields.Text("Pass", MaxTextLength) is { Length: > 0 } password ? password : null,
            MaxConnections = fields.Number("MaxConnections", 1, 500, 20),
            Kind = kind,
            Priority = fields.Number("Priority", 0, 99, 0),
            PipeliningDepth = fields.Has("PipeliningDepth") ? fields.Number("PipeliningDepth", 1, 64, 1) : null,
            Backbone = backbone.Length > 0 ? backbone : fields.Text("Backbone", MaxTextLength),
            Quota = ReadQuota(fields, kind),
        };
    }

    /// <summary>The reserve in percent if none is set. A block and a backup have none, because they exist to fill gaps.</summary>
    public static int UsualReserve(ProviderKind kind, int resetDay) => kind == ProviderKind.Pooled && resetDay > 0 ? 20 : 0;

    /// <summary>Parses the data cap; null without one. The names come from the nzbdav family, and 0 means no cap.</summary>
    private static DataQuota? ReadQuota(ProviderFields fields, ProviderKind kind)
    {
        var limit = fields.Whole("ByteLimit", 0, MaxBytes, 0);
        var resetDay = fields.Number("ResetDay", 0, DataQuota.LastResetDay, 0);
        var reserve = fields.Number("ReservePercent", 0, DataQuota.MaxReservePercent, UsualReserve(kind, resetDay));
        var usedBefore = fields.Whole("BytesUsedOffset", -MaxBytes, MaxBytes, 0);
        var usedBeforeAt = fields.Whole("BytesUsedResetAt", 0, DateTimeOffset.MaxValue.ToUnixTimeMilliseconds(), 0);
        return limit == 0 ? null : new DataQuota(limit)
        {
            ResetDay = resetDay,
            ReservePercent = reserve,
            UsedBefore = usedBefore,
            UsedBeforeAt = usedBeforeAt > 0 ? DateTimeOffset.FromUnixTimeMilliseconds(usedBeforeAt) : null,
        };
    }

    /// <summary>Returns a stable id for an account that has none in the settings.</summary>
    private static Guid IdOf(string account) => new(SHA256.HashData(Encoding.UTF8.GetBytes(account)).AsSpan(0, 16));

    /// <summary>Finds a property by name, ignoring case. The last of duplicates counts.</summary>
    internal static JsonElement? Property(JsonElement element, string name)
    {
        JsonElement? found = null;
        if (element.ValueKind == JsonValueKind.Object)
        {
            foreach (var property in element.EnumerateObject())
            {
                if (name.Equals(JsonText.NameOf(property), StringComparison.OrdinalIgnoreCase) && property.Value.ValueKind != JsonValueKind.Null)
                    found = property.Value;
            }
        }

        return found;
    }
}

/// <summary>Parses typed fields of one element and collects the errors.</summary>
internal sealed class ProviderFields
{
    private readonly JsonElement _element;
    private readonly List<(string Field, string Sentence)> _faults = [];

    /// <summary>Wraps an element, which may be any JSON.</summary>
    public ProviderFields(JsonElement element)
    {
        _element = element;
        if (element.ValueKind != JsonValueKind.Object)
            Refuse("it", "is no object");
    }

    /// <summary>The invalid fields with reasons, without their values.</summary>
    public IReadOnlyList<(string Field, string Sentence)> Faults => _faults;

    /// <summary>The first error as a sentence, or null.</summary>
    public string? Fault => _faults.Count > 0 ? $"{_faults[0].Field} {_faults[0].Sentence}" : null;

    /// <summary>Whether a field exists and is not null.</summary>
    public bool Has(string name) => ProviderJson.Property(_element, name) is not null;

    public void Refuse(string name, string sentence) => _faults.Add((name, sentence));

    /// <summary>Parses text. Rejects control characters, because they could end a command on the wire (S16).</summary>
    public string Text(string name, int maxLength)
    {
        if (ProviderJson.Property(_element, name) is not { } value)
            return "";

        if (value.ValueKind != JsonValueKind.String)
        {
            Refuse(name, "must be text");
            return "";
        }

        if (JsonText.Of(value) is { } text && text.Length <= maxLength && SettingText.IsPlain(text))
            return text;

        Refuse(name, string.Create(CultureInfo.InvariantCulture, $"must be at most {maxLength} characters without line breaks, other control characters and halves of characters"));
        return "";
    }

    /// <summary>Parses a JSON boolean, or text as in CFG-4.</summary>
    public bool Boolean(string name, bool fallback)
    {
        if (ProviderJson.Property(_element, name) is not { } value)
            return fallback;

        if (Written(value) is { } text && SettingText.ReadBoolean(text) is { } read)
            return read;

        Refuse(name, "must be true or false");
        return fallback;
    }

    /// <summary>Parses an integer within a range, from a number or text.</summary>
    public int Number(string name, int min, int max, int fallback) => (int)Whole(name, min, max, fallback);

    /// <summary>Parses a large integer within a range, from a number or text.</summary>
    public long Whole(string name, long min, long max, long fallback)
    {
        if (ProviderJson.Property(_element, name) is not { } value)
            return fallback;

        if (Written(value) is { } text && SettingText.ReadNumber(text) is { } number && number >= min && number <= max)
            return number;

        Refuse(name, string.Create(CultureInfo.InvariantCulture, $"must be a whole number from {min} to {max}"));
        return fallback;
    }

    private static string? Written(JsonElement value) => value.ValueKind == JsonValueKind.String ? JsonText.Of(value) : value.GetRawText();
}
