using System.Text.Json;
using System.Text.Json.Nodes;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Providers;

/// <summary>Changes single providers in <c>usenet.providers</c>. Each change saves the setting once and preserves unknown fields.</summary>
/// <remarks>Thread-safe. Changes run one at a time.</remarks>
internal sealed class ProviderEditor(SettingsStore store, SettingsSource settings, SecretBox box) : IDisposable
{
    public const string Setting = "usenet.providers";

    private readonly SemaphoreSlim _turn = new(1);

    /// <summary>The environment variable that sets the providers; null if they can be edited.</summary>
    public string? Lock => settings.Current[Setting] is { Origin: SettingOrigin.Environment } setting ? setting.Variable : null;

    /// <summary>Why changes are refused, or null. Locked providers cannot be changed, because they would be overwritten (CFG-53).</summary>
    public string? Refusal => settings.Current[Setting] switch
    {
        { Origin: SettingOrigin.Environment } setting => $"The providers are set by the environment variable {setting.Variable}. Remove it there to change them here.",
        { IsLocked: true } => $"The saved providers are locked, because {box.Cause}. Put the key file back, or create a new one on the settings page.",
        _ => null,
    };

    public ProviderOptions? Find(Guid id) => Elements.FirstOrDefault(element => element.Provider.Id == id).Provider;

    /// <summary>
    /// Returns the password for a provider. A null or masked <paramref name="given"/> means the saved one. That is sent only to its own host, port, user and
    /// TLS mode (S19); for others <paramref name="isNeeded"/> is true.
    /// </summary>
    public static string? Password(ProviderOptions provider, string? given, ProviderOptions? saved, out bool isNeeded)
    {
        isNeeded = false;
        if (given is not null && given != SettingsValidator.Mask)
            return given.Length > 0 ? given : null;
        if (saved is not null && IsSameAddress(provider, saved))
            return saved.Password;
        isNeeded = provider.User is not null;
        return null;
    }

    /// <summary>Adds a provider, or replaces the provider with its id. A null or masked password keeps the saved one.</summary>
    /// <returns>Errors by field, or by <see cref="Setting"/> for the whole list; empty on success, null if the id is unknown.</returns>
    public async Task<IReadOnlyDictionary<string, string[]>?> SaveAsync(ProviderOptions provider, string? password, bool isNew, CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            var (element, saved) = isNew ? default : Elements.FirstOrDefault(other => other.Provider.Id == provider.Id);
            if (!isNew && saved is null)
                return null;
            provider = provider with { Password = Password(provider, password, saved, out var isNeeded) };
            var list = ProviderList.Read(settings.Current.Text(Setting));
            var errors = list.Put(provider, isNew ? null : element);
            if (isNeeded)
                errors["Pass"] = [saved is null ? "Enter the password." : "Enter the password again: the saved one goes only to the address that it was saved for."];
            return errors.Count > 0 ? errors : await WriteAsync(list, cancellationToken);
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Removes a provider.</summary>
    /// <returns>Errors as for <see cref="SaveAsync"/>; empty on success, null if the id is unknown.</returns>
    public async Task<IReadOnlyDictionary<string, string[]>?> RemoveAsync(Guid id, CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            var (element, saved) = Elements.FirstOrDefault(other => other.Provider.Id == id);
            if (saved is null)
                return null;
            var list = ProviderList.Read(settings.Current.Text(Setting));
            list.Remove(element);
            return await WriteAsync(list, cancellationToken);
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Returns the errors of a provider by field, without saving it.</summary>
    public static IReadOnlyDictionary<string, string[]> Check(ProviderOptions provider) => ProviderList.Read("{}").Put(provider, null);

    public void Dispose() => _turn.Dispose();

    private IReadOnlyList<(int Element, ProviderOptions Provider)> Elements => ProviderJson.ReadElements(settings.Current.Text(Setting), out _);

    private Task<IReadOnlyDictionary<string, string[]>> WriteAsync(ProviderList list, CancellationToken cancellationToken) =>
        store.SaveAsync(new Dictionary<string, string?> { [Setting] = list.ToString() }, cancellationToken);

    private static bool IsSameAddress(ProviderOptions one, ProviderOptions other) =>
        string.Equals(one.Host.TrimEnd('.'), other.Host.TrimEnd('.'), StringComparison.OrdinalIgnoreCase)
        && (one.Port, one.User, one.UseTls) == (other.Port, other.User, other.UseTls);
}

/// <summary>Editable JSON of <c>usenet.providers</c>. Ignores case in names, preserves unknown ones, and reads the last of duplicates.</summary>
internal sealed class ProviderList
{
    private const string List = "Providers";

    private readonly JsonObject _root;
    private readonly JsonArray _elements = [];

    private ProviderList(JsonElement root)
    {
        if (ProviderJson.Property(root, List) is { ValueKind: JsonValueKind.Array } elements)
        {
            foreach (var element in elements.EnumerateArray())
                _elements.Add(element.ValueKind == JsonValueKind.Object ? Loose(element) : JsonNode.Parse(element.GetRawText()));
        }

        _root = Loose(root);
        _root[List] = _elements;
    }

    public static ProviderList Read(string json)
    {
        using var document = JsonDocument.Parse(json);
        return new ProviderList(document.RootElement);
    }

    /// <summary>Writes a provider to an element; a null index adds one.</summary>
    /// <returns>Errors by field.</returns>
    public Dictionary<string, string[]> Put(ProviderOptions provider, int? element)
    {
        if (element is not { } at)
        {
            at = _elements.Count;
            _elements.Add((JsonNode)new JsonObject(new JsonNodeOptions { PropertyNameCaseInsensitive = true }));
        }

        var fields = (JsonObject)_elements[at]!;
        fields["ProviderId"] = provider.Id.ToString();
        fields["Nickname"] = provider.Name == provider.Host ? "" : provider.Name;
        fields["Host"] = provider.Host;
        fields["Port"] = provider.Port;
        fields["UseSsl"] = provider.UseTls;
        fields["SkipTlsVerification"] = provider.SkipTlsVerification;
        fields["User"] = provider.User ?? "";
        fields["Pass"] = provider.Password ?? "";
        fields["MaxConnections"] = provider.MaxConnections;
        fields["Type"] = (int)provider.Kind;
        fields["Priority"] = provider.Priority;
        fields["StorageGroup"] = provider.Backbone;
        fields.Remove("Backbone");
        Put(provider.Quota, fields);
        return ProviderJson.Faults(fields.ToJsonString())
            .GroupBy(fault => fault.Field, fault => fault.Sentence)
            .ToDictionary(fault => fault.Key, fault => (string[])[$"{char.ToUpperInvariant(fault.First()[0])}{fault.First()[1..]}."]);
    }

    /// <summary>Writes a data cap. Without one, the element keeps the other fields, because they have no effect.</summary>
    private static void Put(DataQuota? quota, JsonObject fields)
    {
        if (quota is null)
        {
            if (fields.ContainsKey("ByteLimit"))
                fields["ByteLimit"] = null;
            return;
        }

        fields["ByteLimit"] = quota.ByteLimit;
        fields["ResetDay"] = quota.ResetDay;
        fields["ReservePercent"] = quota.ReservePercent;
        fields["BytesUsedOffset"] = quota.UsedBefore;
        fields["BytesUsedResetAt"] = quota.UsedBeforeAt?.ToUnixTimeMilliseconds() ?? 0;
    }

    public void Remove(int element) => _elements.RemoveAt(element);

    public override string ToString() => _root.ToJsonString();

    private static JsonObject Loose(JsonElement element)
    {
        var loose = new JsonObject(new JsonNodeOptions { PropertyNameCaseInsensitive = true });
        foreach (var property in element.EnumerateObject())
        {
            if (JsonText.NameOf(property) is { } name)
                loose[name] = JsonNode.Parse(property.Value.GetRawText());
        }

        return loose;
    }
}
