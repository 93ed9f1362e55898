// Layouts prints the layouts of Apache Kafka's record types as internal/tool/layout reads them: the fields in the order
// of their JSON, with names, types, versions, tags and defaults, learned from the published jars by reflection.
//
//   java -cp 'JARS/*' Layouts.java CLASS... >internal/tool/layout/layouts.txt
import java.lang.reflect.*;
import java.util.*;

public class Layouts {
    public static void main(String[] classes) throws Exception {
        for (String name : classes) {
            Class<?> c = Class.forName(name);
            Object[] all = (Object[]) get(c, null, "SCHEMAS");
            int low = 0, high = all.length - 1, flexible = -1;
            while (low < all.length && all[low] == null) low++;
            for (int v = high; v >= low; v--) if (compact(all[v])) flexible = v;
            System.out.println(c.getSimpleName() + " " + low + "-" + high + (flexible < 0 ? "" : " flexible " + flexible + "+"));
            struct(c, all, low, " ");
        }
    }

    static Object get(Class<?> c, Object o, String field) throws Exception {
        Field f = c.getDeclaredField(field);
        f.setAccessible(true);
        return f.get(o);
    }

    static boolean compact(Object schema) throws Exception {
        for (Object bound : (Object[]) schema.getClass().getMethod("fields").invoke(schema)) {
            Object def = bound.getClass().getField("def").get(bound);
            if (def.getClass().getField("type").get(def).getClass().getSimpleName().equals("TaggedFields")) return true;
        }
        return false;
    }

    static String plain(String s) { return s.replace("_", "").toLowerCase(); }

    /** All fields of a schema, tagged ones too, by plain name: [type, tag or null]. */
    static Map<String, Object[]> fields(Object schema) throws Exception {
        Map<String, Object[]> m = new HashMap<>();
        if (schema == null) return m;
        for (Object bound : (Object[]) schema.getClass().getMethod("fields").invoke(schema)) {
            Object def = bound.getClass().getField("def").get(bound);
            Object type = def.getClass().getField("type").get(def);
            if (!type.getClass().getSimpleName().equals("TaggedFields")) {
                m.put(plain((String) def.getClass().getField("name").get(def)), new Object[]{type, null});
                continue;
            }
            Field f = type.getClass().getDeclaredField("fields");
            f.setAccessible(true);
            for (var e : ((Map<?, ?>) f.get(type)).entrySet()) {
                Object d = e.getValue();
                m.put(plain((String) d.getClass().getField("name").get(d)), new Object[]{d.getClass().getField("type").get(d), e.getKey()});
            }
        }
        return m;
    }

    static void struct(Class<?> c, Object[] schemas, int low, String indent) throws Exception {
        Object empty = c.getDeclaredConstructor().newInstance();
        List<Map<String, Object[]>> all = new ArrayList<>();
        for (Object s : schemas) all.add(fields(s));
        for (Field f : c.getDeclaredFields()) {
            if (Modifier.isStatic(f.getModifiers()) || f.getName().startsWith("_")) continue;
            int from = -1, to = -1;
            Object[] last = null;
            for (int v = 0; v < all.size(); v++) {
                Object[] x = all.get(v).get(plain(f.getName()));
                if (x == null) continue;
                if (from < 0) from = v;
                to = v;
                last = x;
            }
            if (last == null) continue;
            f.setAccessible(true);
            line(f, last, empty, from == low && to == all.size() - 1 ? "" : to == all.size() - 1 ? " " + from + "+" : " " + from + "-" + to, indent);
            Class<?> inner = inner(f);
            if (inner != null) {
                Object[] sub = new Object[schemas.length];
                for (int v = 0; v < sub.length; v++) {
                    Object[] x = all.get(v).get(plain(f.getName()));
                    if (x != null) sub[v] = element(x[0]);
                }
                struct(inner, sub, from, indent + " ");
            }
        }
    }

    static void line(Field f, Object[] x, Object empty, String versions, String indent) throws Exception {
        String kind = x[0].getClass().getSimpleName();
        boolean array = kind.equals("ArrayOf") || kind.equals("CompactArrayOf");
        Object e = element(x[0]);
        String type = isStruct(e) ? (e.getClass().getSimpleName().startsWith("Nullable") ? "struct?" : "struct") : e.toString().toLowerCase().replace("compact_", "").replace("nullable_", "").replace("boolean", "bool");
        if (f.getType() == boolean.class) type = "bool";
        String tag = "";
        if (x[1] != null) {
            Object d = f.get(empty);
            String def = d == null ? "null" : d instanceof List<?> ? "[]" : isStruct(e) ? "{}" : d.toString();
            tag = " tag " + x[1] + " default " + (def.isEmpty() ? "''" : def);
        }
        System.out.println(indent + f.getName() + " " + (array ? "[]" : "") + type + versions + tag);
    }

    static boolean isStruct(Object type) {
        return type.getClass().getSimpleName().contains("Schema");
    }

    static Object element(Object type) throws Exception {
        String kind = type.getClass().getSimpleName();
        if (!kind.equals("ArrayOf") && !kind.equals("CompactArrayOf")) return type;
        return ((Optional<?>) type.getClass().getMethod("arrayElementType").invoke(type)).get();
    }

    static Class<?> inner(Field f) {
        Class<?> c = f.getType();
        Type t = f.getGenericType();
        if (c.getGenericSuperclass() instanceof ParameterizedType) t = c.getGenericSuperclass(); // a collection with keys
        if (t instanceof ParameterizedType p && p.getActualTypeArguments()[0] instanceof Class<?> a) c = a;
        return c.getEnclosingClass() == null || c.isPrimitive() ? null : c;
    }
}
