using System.Text.Json;
using System.Text.Json.Serialization;

namespace Sluice.Server.AdminApi;

/// <summary>Writes enum values as words: <c>DownloadClient</c> becomes <c>download-client</c>. Refuses numbers.</summary>
internal sealed class KebabCaseEnumConverter<T>() : JsonStringEnumConverter<T>(JsonNamingPolicy.KebabCaseLower, allowIntegerValues: false)
    where T : struct, Enum;
